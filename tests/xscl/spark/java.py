"""How tests have Spark start Java: it compiles immediately and not for long, as one that ends
within minutes should, does not collect garbage for lack of space for classes, and trusts the
classes that it loads; that takes a third off what Spark costs."""

from __future__ import annotations

__all__ = ["QUICK", "QUICK_JAVA"]

QUICK_JAVA = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    " -XX:MetaspaceSize=256m -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
}
"""Settings of Spark's."""

QUICK = tuple(word for setting in QUICK_JAVA.items() for word in ("--conf", "=".join(setting)))
"""The same, as options of `xscl ingest` or of `spark-submit`."""
