"""An engine behind HTTP: queries and documents come as requests, matches leave as events."""
