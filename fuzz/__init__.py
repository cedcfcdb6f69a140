"""Coverage-guided fuzzing (Atheris, libFuzzer's driver for Python) of what reads a stranger's
input: `queries`, `envelopes` and `feeds`, each a program of its own.

    python -m fuzz.queries build/fuzz/queries fuzz/corpus/queries -max_total_time=600

`corpus/` has the seeds; what is found on the way goes to the first directory named.  A crash is any
exception but those that the readers promise, or a broken promise of theirs.
"""
