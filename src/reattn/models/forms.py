"""Two forms of one function, over the same parameters.

`plain` is written as the equations read: scores are materialised, so that
operations can be counted and compared with the report's. `shipped` computes the
same numbers in fewer steps and is what a user gets.
"""

from typing import Literal, TypeVar

from torch import nn

from reattn.errors import ReattnError

Form = Literal["shipped", "plain"]
Model = TypeVar("Model", bound=nn.Module)


def set_form(model: Model, form: Form) -> Model:
    """Switch every module that has two forms; return the model.

    A module has two forms if it has an attribute `form` (declared on its class
    with the value "shipped"). Parameters and state_dict do not change.

    Raises:
        ReattnError: `form` is neither "shipped" nor "plain".
    """
    if form not in ("shipped", "plain"):
        raise ReattnError(f"form = {form!r}: give 'shipped' or 'plain'.")
    for module in model.modules():
        if hasattr(module, "form"):
            module.form = form
    return model
