"""The energetic terms of machines of finitely many units: their integrals over the units' fields.

To read in this order: `finite_machines`, which says what a term offers; `parity` with its limits,
and its capacity in `parity_capacity`; `committee_of_three` on the integrals of `three_units`;
committees of more units in `finite_committee`.
"""
