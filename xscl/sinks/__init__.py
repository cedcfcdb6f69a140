"""Where matches go: lines, feeds for any reader, commands, webhooks and a terminal, all entered in
`registry`; and where the documents go that could not be used."""
