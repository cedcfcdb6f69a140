"""What the engine is measured against, none of which shares code with its join.

The thesis' own: `sequential` (one SQL query for each XSCL query), `mmqjp` (Algorithm 1), `views`
(with view materialisation) and `view_cache` (Algorithms 4 and 5), over the `relations` of the
witnesses, in the SQL of `conjunctive_query`, by the templates of `shapes`.  What one writes by
hand: `dictionary_join`; and `compiled_xpath` for stage 1.
"""
