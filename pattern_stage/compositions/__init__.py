"""Compositions of NEXT CEP's EQL (Schultz-Møller et al., *Distributed complex event processing with
query rewriting*, DEBS 2009): their normal form, its plans and what these cost, the rules that
rewrite a plan, and plans as nodes of the algebra.
"""
