# Implements: REQ-p00001-A, for a café
