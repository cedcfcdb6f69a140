(: What the queries that xquery.py writes call. :)

(: XPath 1.0's conversions.  libxml2 reads exponents in numbers, which XPath 1.0 does not have. :)

declare function local:number($text as xs:string) as xs:double {
  if (matches($text, '^[ \t\r\n]*-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\r\n]*$'))
  then xs:double(normalize-space($text)) else xs:double('NaN')
};

declare function local:text($number as xs:double) as xs:string {
  if ($number = 1 div 0e0) then 'Infinity' else if ($number = -1 div 0e0) then '-Infinity'
  else if ($number = 0) then '0' else string($number)
};

declare function local:first($nodes as node()*) as xs:string { string(head($nodes)) };

declare function local:holds($number as xs:double) as xs:boolean {
  $number = $number and $number != 0
};

declare function local:double($truth as xs:boolean) as xs:double { if ($truth) then 1 else 0 };

(: Predicates: the values are strings, and doubles where `number` or a literal makes them so. :)

declare function local:cast($text as xs:string) as xs:double {
  if ($text castable as xs:double) then xs:double($text) else xs:double('NaN')
};

declare function local:shortest($value as item()) as xs:string {
  if ($value instance of xs:double and $value = 0) then '0'
  else if ($value instance of xs:double)
  then replace(replace(string($value), '\.0E([0-9])', 'e+$1'), '\.0E-', 'e-')
  else string($value)
};

declare function local:equal($left as item(), $right as item()) as xs:boolean {
  if ($left instance of xs:double and $right instance of xs:double) then $left = $right
  else if (string($left) = 'NaN' and $left instance of xs:double) then false()
  else if (string($right) = 'NaN' and $right instance of xs:double) then false()
  else local:shortest($left) = local:shortest($right)
};

declare function local:ordered($left as item(), $sign as xs:string, $right as item())
as xs:boolean {
  let $numbers := string($left) castable as xs:double and string($right) castable as xs:double
  let $a := if ($numbers) then xs:double($left) else local:shortest($left)
  let $b := if ($numbers) then xs:double($right) else local:shortest($right)
  return
    if (($left, $right) ! (. instance of xs:double and . != .) = true()) then false()
    else if ($sign = '<') then $a < $b else if ($sign = '<=') then $a <= $b
    else if ($sign = '>') then $a > $b else $a >= $b
};

(: Nodes: number of the element, name of the attribute, local name; copies for results. :)

declare function local:node($node as node()) as array(*) {
  let $element := if ($node instance of element()) then $node else $node/..
  return array { count($element/preceding::*) + count($element/ancestor::*),
    if ($node instance of element()) then '' else
      'Q{' || namespace-uri($node) || '}' || local-name($node),
    local-name($node) }
};

declare function local:nodes($document as map(*), $nodes as node()*) as array(*) {
  array { $nodes ! array:join(([$document?number], local:node(.))) }
};

declare function local:hexadecimal($digits as xs:string) as xs:integer {
  fold-left(string-to-codepoints($digits), 0, function($sum, $digit) {
    16 * $sum + string-length(substring-before('0123456789abcdef', codepoints-to-string($digit)))
  })
};

declare function local:key($name as xs:string) as xs:string {
  string-join(tokenize(substring-after($name, '__'), '\.')
    ! codepoints-to-string(local:hexadecimal(.)))
};

declare function local:copy($node as node()) as node() {
  typeswitch ($node)
  case attribute() return element {node-name($node)} {string($node)}
  case element() return
    if (starts-with(local-name($node), '__'))
    then element item {
      attribute key {local:key(local-name($node))}, $node/@*, $node/node() ! local:copy(.)
    }
    else element {node-name($node)} {$node/@*, $node/node() ! local:copy(.)}
  default return $node
};

declare function local:xml($node as node()) as xs:string {
  serialize($node, map { 'method': 'xml', 'omit-xml-declaration': true() })
};
