"""The figures of NEXT CEP (Schultz-Møller et al., section 6)."""
