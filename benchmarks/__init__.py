"""Every figure of the thesis' section 6.6, and what goes beyond it, measured here and now.

`reports` has a module for each, `users` what users do, `baselines` what the engine is measured
against, which shares no code with it.  `python -m benchmarks` runs them and writes
docs/performance.md and docs/figures.md.
"""
