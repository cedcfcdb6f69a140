"""Documents, XML or JSON, as trees: bounded, without entities, whole or pruned as they grow."""
