"""The workloads of chapters 4 and 5 as event queries, and how fast they are got through."""
