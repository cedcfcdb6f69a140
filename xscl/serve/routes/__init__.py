"""The routes: a module each, with a `router` that `xscl.serve.app` includes."""
