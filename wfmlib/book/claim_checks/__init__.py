"""Checks of the ledger's claims: one function a question, named in ``claims.toml``.

A function takes nothing. Where the claim is a number it returns the number; where it is true or
false it returns which, and in words what was found. Where data cannot tell it returns an
`evidence.Answer` that says so. The first line of its docstring says how, and is shown with the
claim. Several claims may name one function.
"""

from wfmlib.book.claim_checks.annealing_claims import *  # noqa: F403
from wfmlib.book.claim_checks.binary_perceptron import *  # noqa: F403
from wfmlib.book.claim_checks.committees import *  # noqa: F403
from wfmlib.book.claim_checks.cross_entropy_claims import *  # noqa: F403
from wfmlib.book.claim_checks.flatness_claims import *  # noqa: F403
from wfmlib.book.claim_checks.full_breaking import *  # noqa: F403
from wfmlib.book.claim_checks.image_claims import *  # noqa: F403
from wfmlib.book.claim_checks.least_action_claims import *  # noqa: F403
from wfmlib.book.claim_checks.margins import *  # noqa: F403
from wfmlib.book.claim_checks.message_passing import *  # noqa: F403
from wfmlib.book.claim_checks.parity_claims import *  # noqa: F403
from wfmlib.book.claim_checks.remarks_runs import *  # noqa: F403
from wfmlib.book.claim_checks.remarks_theory import *  # noqa: F403
from wfmlib.book.claim_checks.sampling_claims import *  # noqa: F403
from wfmlib.book.claim_checks.solution_groups import *  # noqa: F403
from wfmlib.book.claim_checks.training_sets import *  # noqa: F403
from wfmlib.book.claim_checks.wide_minima import *  # noqa: F403
