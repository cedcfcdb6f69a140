"""`xscl feeds`, and what `xscl watch` says of feeds: `show` has what polling remembers,
`feed_report` what a watch cannot read, or not yet."""
