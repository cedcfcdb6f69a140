"""What the site has in addition to the pages: blocks in colours, with labels; routes; an index."""
