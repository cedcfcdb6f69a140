"""The dissection of queries (section 6.1), for people and for programs.

text.py       a query     -> its text: tree patterns, stages, templates, what it keeps
  words.py      its nodes   -> what they are called
  stages.py     its stages  -> their comparisons, what the reduction rules leave
  notes.py      a query     -> what its writer may not have meant
  symmetry.py   a stage     -> whether it finds each pair twice
records.py    a query     -> the members of its JSON
patterns.py   a pattern   -> its automaton, in each of these forms
events.py     an event query -> its schemas, plan and automaton, in each of these forms
  event_plans.py  queries -> the plans of those of events, and what they share
catalogue.py  queries     -> their templates and streams, as tables
sample.py     very many queries -> some of each form
shared.py     queries     -> their plan before and after each rule of the optimiser
sql.py        queries     -> their conjunctive queries as SQL
mermaid.py    queries     -> a flowchart
svg.py        queries     -> a picture
  drawing.py    its nodes   -> boxes, trees, edges
"""

from xscl.explain.catalogue import catalogue_text, explain_file
from xscl.explain.event_plans import EventPlans
from xscl.explain.mermaid import as_mermaid
from xscl.explain.notes import warnings
from xscl.explain.records import as_json
from xscl.explain.sample import Sample
from xscl.explain.shared import shared_members
from xscl.explain.sql import as_sql
from xscl.explain.svg import as_svg
from xscl.explain.text import as_text, fitted

__all__ = [
    "EventPlans",
    "Sample",
    "as_json",
    "as_mermaid",
    "as_sql",
    "as_svg",
    "as_text",
    "catalogue_text",
    "explain_file",
    "fitted",
    "shared_members",
    "warnings",
]
