"""`xscl spark`: standing queries over a stream of documents on Spark, and how far it is."""
