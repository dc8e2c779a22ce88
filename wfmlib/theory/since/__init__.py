"""Theory beyond the papers: clusters, full symmetry breaking, localisation, connectivity.

To read in this order: `franz_parisi_1rsb` (one step of symmetry breaking around a solution),
`clusters` (groups of solutions and the overlap gap), `full_breaking` (groups inside groups),
`localization` (whether solutions can be drawn), `connectivity` (what lies between two of them).
`typical.capacity` alone leads here, for two steps and more.
"""
