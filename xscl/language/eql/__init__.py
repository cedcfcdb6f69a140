"""EQL, NEXT CEP's event query language: from lark's tree to a syntax tree, its normal form, what
cannot be meant, and back to text (Schultz-Møller, Migliavacca, Pietzuch, *Distributed complex event
processing with query rewriting*, DEBS 2009; docs/semantics.md#eql)."""
