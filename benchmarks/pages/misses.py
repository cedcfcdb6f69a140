"""Why a statement does not hold here: what bounds the figure, or how the measurement differs from
the paper's.  Reasons are kept apart from records, as they are found after these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchmarks.report import Statement

__all__ = ["REASONS", "explained"]

REASONS: Mapping[str, Mapping[str, str]] = {
    "sase_stacks": {
        "PAIS at least 20 times": (
            "Selection tests 63 sequences an event; to find the partition of one costs as much as "
            "testing seven. With windows ten times as long there are a hundred times as many "
            "sequences, and the factor is hundreds."
        ),
        "basic and AIS get faster": (
            "From V1 = 2,000 on hardly an event extends a stack: a way takes some 50 ms, by which "
            "nothing can be told to a tenth."
        ),
    },
    "sase_tests": {
        "windows in scan and construction": (
            "The window in the scan evicts what is too old, which costs a few per cent; without "
            "it stacks grow with the stream, which takes memory and no time."
        ),
        "the negation index": (
            "Without any negation an event takes 70 % of what it takes by key (last table). The "
            "index saves only in the rest, and there it is 6 times as fast."
        ),
        "up to V1 = 500 dynamic filtering": (
            "From V1 = 100 on selection constructs at most 0.6 sequences an event. The scan "
            "takes its time either way, and little is left to save."
        ),
        "up to V1 = 500 Multi-PAIS": (
            "With V2 = 20 its scan leaves four fifths of the sequences at V1 = 10, and one in "
            "hundreds at V1 = 500, for one look-up more. With V2 = 5, where it leaves more, it is "
            "no faster, as in the paper."
        ),
    },
    "sase_joins": {
        "of the speed at L = 2": (
            "From L = 2 to L = 6 three times as many events are of a type of the sequence, and "
            "there are five times as many matches, of three times as many events each. The base "
            "cost is so small that matches dominate."
        ),
        "a second test at V1 = 10": (
            "With one test there are 65 matches an event, and what both ways gain from the "
            "second is the time to construct these."
        ),
    },
    "sase_plus": {
        "p2s2 at least 10 times": (
            "p2s2 has hardly a run, and an event still takes 10 µs. The runs and matches of p2s3 "
            "add 14 µs, so that the ratio cannot reach 10."
        ),
        "p2s2 keeps 0.8": (
            "Its runs are as few whatever the window. Its speed falls from W = 500 to 1,000, and "
            "then no more (83,694 to 90,573 events/s)."
        ),
        "the gains of p1s3 and p2s3 do not fall": (
            "They grow from 1.22 to 1.56 and from 1.14 to 1.46; between W = 500 and 1,000 that of "
            "p1s3 varies by 6 %, as the machine does."
        ),
        "p3s2 and p3s3 differ": ("Under s2 there are half as many runs (8(a), runs)."),
        "2 runs of its symbol": (
            "Under contiguity a run of p3 ends at the first price that is not above its least; "
            "only 55 % of the runs never meet one."
        ),
        "matching is at least 60": (
            "Construction goes event by event through matches of some 250 events, and takes the "
            "rest of the cost."
        ),
        "basic at least 200 times": (
            "Backtracking processes an event three times, and the paper's 1.6 times; basic has "
            "two runs of a symbol. Nothing in this explains a factor of 200. Basic also "
            "constructs all matches, which backtracking only counts."
        ),
        "basic 0.8 to 3 times": (
            "Hardly a run exists, and what an event costs in the product (partition, window, "
            "layout) is compared with a plain loop."
        ),
        "backtrack reads an event again": (
            "It reads an event once for each run that meets it: with the two runs of table 2 "
            "this cannot be 0.6."
        ),
        "merging gains 1.5 times": (
            "Construction, which merging leaves as it is, takes almost half of the time of basic."
        ),
        "without construction merging": (
            "At W = 500 most of the time is an event's own, whatever its runs; at 2,000 merging "
            "gains more than the paper's 1.4."
        ),
        "with p 0.55 p1": (
            "How many runs begin depends on how often a price is a multiple of 500, some 60 "
            "times in the stream: a matter of the draw."
        ),
        "with p 0.55 p2 and p3 are faster": (
            "p2s2 hardly has a run either way, and matches of p3s3 stay as long: only matching by "
            "runs gets cheaper."
        ),
        "with p 0.55 basic is still": ("As for figure 8(d)."),
    },
    "figure_4_13": {
        "at least 0.4 of the events/s at 100,000": (
            "An event looks up four times as many states, in tables that the processor's caches do "
            "not hold."
        ),
        "LinearDyn > Filter": (
            "Filter, NonDeterministic and NonDeterministicAgg have the same states, and find the "
            "same few instances by their indexes: an event's time is mostly its reading and these "
            "look-ups. Why Filter takes a quarter longer is not known."
        ),
        "400,000 queries of Filter have 171": (
            "With uniform values and the parameters of table 4.1 one match is expected in "
            "100,000 events (a step selects an event with probability 4.9e-5, and the next two "
            "follow within 20): 171 need a workload that the table does not describe."
        ),
        "merging leaves at most 215,000": (
            "The thesis does not state how a query's ranges are drawn. Here each step draws one "
            "of 25, so that 100,000 queries have 76,000 first steps; without the ranges, "
            "41,000."
        ),
        "events/s fall with the selectivity": (
            "Reading and the look-ups take the same time at each selectivity; what is added to it "
            "grows with its square, as in the thesis."
        ),
    },
    "figure_4_14": {
        "most of the gain comes": (
            "One instance stands for all queries that share its state: there are few, and going "
            "through them costs little."
        ),
        "at 40,000 queries, at least 5 times the events/s of No instance index": ("As above."),
        "merging matters little": (
            "Without merging an event begins an instance for each query, not one for each state."
        ),
        "at 10,000 queries, at least 2 times the events/s of CAN": (
            "CAN runs on the same operators and indexes, and pays only for the pairs that it "
            "publishes, which are few."
        ),
    },
    "figure_4_17": {
        "FOLD has more rows/s than CQL1": (
            "DuckDB computes over columns of all rows at once, without reading text or emitting "
            "row by row; the thesis compared two stream engines."
        ),
        "CQL2 has at most a fourth": ("As above."),
        "resubscription and CQL1 perform": ("As above."),
        "CQL2 has less than half": (
            "Smoothing leaves CQL2 fewer extrema to join: it takes less time the longer the "
            "average is, while CQL1 takes the same."
        ),
    },
    "figure_4_18": {
        "Stateless > Concatenation": (
            "Parameterization and Iteration have no X: however many are subscribed, they are "
            "415 queries in the plan, and Concatenation is thousands."
        ),
    },
    "figure_5_09": {
        "FOLD has fewer events/s": (
            "Both begin and end as many instances, and most of an event's time is its reading: "
            "which of the two is ahead differs from one number of queries to the next."
        ),
        "7 times the events/s of s_ only, tuples": (
            "With 100 queries what an event costs before any of them is still a part of its time; "
            "from 1,000 on it is reached."
        ),
        "capacity times the events/s of s_ only, tuples": (
            "The gain is 0.62 to 1.1 times the capacity, below 0.7 with 8 and 16 streams and above "
            "it with 4, 10 and 20: a cell is one measurement of some seconds."
        ),
        "7 times the events/s of s_ only, a document": (
            "A document is read for each stream, which takes most of the time; channels save "
            "only what follows the reading."
        ),
        "capacity times the events/s of s_ only, a document": ("As above."),
        "capacity times the events/s of s_ only, one document": (
            "Reading takes its time either way."
        ),
    },
    "figure_5_10": {
        "the more streams channels encode": (
            "One query and two gain the same: a channel of one stream or two encodes hardly "
            "anything together."
        ),
        "channels have at least 0.5 · n": "Reading and smoothing take their time either way.",
        "with channels events/s drop": (
            "1.36 times; the machine's speed varies by as much from one cell to the next."
        ),
    },
    "table_6_3": {
        "random queries over three levels: 39 templates": (
            "No draw of 50 has fewer than 41 templates; 63 are possible. The numbers for K = 2, 3 "
            "and 4 are met by the same generator."
        ),
    },
    "figure_6_08": {
        "as fast as Sequential, SQLite": (
            "SQLite plans a small statement in microseconds, and finds no row for most; a cold "
            "pair also reports each of its matches."
        ),
    },
    "figure_6_09": {
        "Sequential takes about 6 times": (
            "Planning is all of Sequential's time, and DuckDB's grows faster than the number of "
            "joins that it has to order."
        ),
        "MMQJP takes about 6 times": (
            "DuckDB's planning is nearly all of the time, of three times as many templates with "
            "longer joins."
        ),
    },
    "figure_6_10": {
        "Sequential is 2 times": "Planning is all of Sequential's time in DuckDB.",
        "the Zipfian parameter has little impact": "Planning differs by the templates of the draw.",
    },
    "figure_6_11": {
        "as fast as Sequential, SQLite": "As for figure 6.8.",
        "the time of Sequential grows": "Each query is a statement of its own, planned alone.",
        "the time of MMQJP grows": (
            "There are at most 31 templates, and planning these is most of the time."
        ),
    },
    "figure_6_13": {
        "the Zipfian parameter has more impact": "Planning is most of the time of both.",
    },
    "figure_6_14": {
        "there are great benefits": (
            "With one document on each side the joins read few rows, and planning, which views do "
            "not save, is most of the time."
        ),
    },
    "figure_6_15": {
        "there are great benefits": "As for figure 6.14.",
        "the more templates": "As for figure 6.14.",
    },
    "figure_6_16": {
        "view materialisation helps": (
            "The views are made for each batch, of all documents retained, and DuckDB joins "
            "without them in less time than they take to make."
        ),
        "the throughput of MMQJP": (
            "Duplicates are rows of R_T of their own: ten times as many queries have ten times as "
            "many results."
        ),
    },
    "figure_5_08": {
        "100,000 queries have at least": (
            "An event of S meets a hundred times as many queries, whose instances have to begin "
            "and to end."
        ),
        "100,000 queries have 1.7 million": (
            "The outputs depend on which constants are drawn for which windows; another run had "
            "1.79 million."
        ),
        "the domain of constants": (
            "A cell is measured in some seconds, and the machine's speed varies by a third from "
            "one to the next, as cells that make hardly an output show."
        ),
        "the fastest domain of windows": "As for the domain of constants.",
        "from Zipf 1.2 to 2": (
            "As for the domain of constants; the outputs of an event are as many at each exponent."
        ),
    },
    "next_operators": {
        "does not fall with the size": (
            "For the least sizes there is little to rewrite, and the number of operators is "
            "known to a tenth: a second of stream is measured at powers of two."
        ),
        "mix: the gain is between": "As above, at n = 8.",
        "next: at least 1.2 times": "As above: 1.19 at n = 3.",
    },
    "next_queries": {
        "at least 1.5 times the throughput": (
            "With one query 1.43, with more 1.51 to 2.09: reading an event takes its time, which "
            "rewriting does not touch."
        ),
        "takes at most 1.05 times as long": (
            "The programme minimises what the model counts; where the two plans differ, the model "
            "is less exact than their difference."
        ),
        "no query is slower": (
            "The model assumes the worst selectivity, and no fixed cost of an event: of some "
            "queries it takes a plan for cheaper that is not."
        ),
        "rank correlation": (
            "The model knows no fixed cost of an event, and assumes the worst selectivity: it "
            "expects twice the gain that is measured."
        ),
    },
    "next_nodes": {
        "next: round robin is flat": (
            "Load is counted and not queued: no event waits for a distant node."
        ),
        "next: greedy supports at least twice": (
            "Both stop at a query with an operator that takes nearly all of a node, for which none "
            "has room: placement ends with the first query that does not fit."
        ),
        "next: greedy supports at least 0.7": (
            "From 15 nodes on it stops at the same query, whatever nodes there are; rewritten, "
            "that operator takes a quarter of a node."
        ),
        "union, one sink: flat": "Greedy reaches the limit of the sink at 30 nodes only.",
    },
    "automata": {
        "an arc that changes every 10 events costs less": ("A change costs as much as two events."),
        "10,000 automata, the same up to constants": (
            "Each event is of one automaton. Of a batch, one automaton among 10,000 gets one "
            "event at most, and what the events of a batch share where there is one automaton "
            "is done for each of them."
        ),
    },
    "automata_levels": {
        "from T = 0 to 1,000 ms output grows": (
            "A match that is taken back and found again within one call is not reported at all; "
            "the paper reports both."
        ),
    },
    "automata_ignorable": {
        "with anchors at most": (
            "The line through 90 and 95 % meets 100 % at three quarters of what is taken at 95 "
            "%: so much does not depend on how many events are ignored."
        ),
        "at 0 % ignorable events memory": (
            "There is no interval tree here: epochs whose runs do not change share one list."
        ),
    },
    "user_table": {
        "within 6 s": (
            "A query takes 142 µs: two fifths to read its text, the others to register it (its "
            "name, its entries in the indexes of leaves and templates)."
        ),
        "within 20 s": "A query takes 268 µs, as each text is parsed by itself.",
        "at most 1.3 times": (
            "By hand knows the leaves and the order of time; what is retained, evicted, late or "
            "there already is looked up for each document."
        ),
        "one by one: at most 2.5 times": (
            "Half of a call is the call's own: the lock, the check for duplicates, what is undone "
            "if it breaks off, and handing over. By hand has none of that."
        ),
        "at most 1.25 times": (
            "As one by one; without windows, by hand has nothing to evict either."
        ),
        "1 s for 100,000 matches": (
            "Counting takes half of the time, writing 102,332 lines of 1.2 KB the other half."
        ),
        "authors, as counts: 0.3 s": (
            "That would be 12 µs for each of 25,525 documents; the floor alone takes 8."
        ),
        "a chain of three titles": (
            "Counting takes a quarter of the time, writing 359,549 lines of three documents the "
            "rest."
        ),
        "`import xscl`": "It reads its own modules, and those of lxml and DuckDB.",
        "a TAB of completion": "A TAB starts a Python, which imports the commands.",
        "items of JSON": (
            "A text of XML whose layout is known is split at its markup; JSON is parsed, and its "
            "values are visited."
        ),
    },
}
"""By section, and by words of the statement."""


def explained(section: str, statements: Iterable[Statement]) -> list[str]:
    """A line for each statement that is missed and has a reason."""
    reasons = REASONS.get(section, {})
    return [
        f"- *{one.text}*: {reason}"
        for one in statements
        if one.holds is False
        for words, reason in reasons.items()
        if words in one.text
    ]
