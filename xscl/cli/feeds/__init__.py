"""`xscl feeds`, and what `xscl watch` says of feeds: `show` has what polling remembers, `add` adds
to an OPML file, `feed_report` says what a watch cannot read, or not yet."""
