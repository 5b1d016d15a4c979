"""What the numbers of a study cannot show, told from what the study is."""

from reattn.report import numbers
from reattn.report.carried import carried_without_price
from reattn.report.context import Context
from reattn.report.markdown import Markdown, escape, listing, sentence
from reattn.report.sources import image_sources


def limits(context: Context) -> list[Markdown]:
    """Each limit in a few sentences that begin with a word in bold."""
    told = [
        ("Scale", _scale(context)),
        ("Chance", _chance(context)),
        ("Images", _images(context)),
        ("Selection", _selection(context)),
        ("Models", _models(context)),
        ("Published numbers", _published(context)),
        ("Deviations", _deviations(context)),
        ("Times", _times(context)),
        ("Attention", _attention(context)),
    ]
    return [Markdown(f"**{name}.** {text}") for name, text in told if text]


def _scale(context: Context) -> str:
    reduced = context.study.reduced
    if not reduced:
        return "The models, the images and the budget are of the report’s own size."
    return (
        f"{sentence(reduced)} Small models trained briefly may order themselves "
        "otherwise than large ones trained to the end."
    )


def _chance(context: Context) -> str:
    count = len(context.study.seeds)
    if count == 1:
        return (
            "One seed. What another initialisation or order of images would change is "
            "not known; the intervals cover the choice of test images alone."
        )
    return (
        f"{count} seeds. An interval over so few runs is wide where runs scatter, and "
        "assumes that they scatter as a normal distribution does; a run that collapses "
        "does not."
    )


def _images(context: Context) -> str:
    notes = " ".join(sentence(note) for note in context.data_notes)
    sources = listing(image_sources(context))
    return f"One set of images ({sources}). {notes}".strip()


def _selection(context: Context) -> str:
    return (
        f"{sentence(context.validation)} The recipes are the authors’; how they were "
        "chosen is not known, and other recipes may serve some models better."
    )


def _models(context: Context) -> str:
    open_models = context.unmeasured
    if not open_models:
        return ""
    verb = "has" if len(open_models) == 1 else "have"
    names = listing(model.name for model in open_models)
    return f"{names} {verb} no accuracy here, and no comparison that needs one."


def _published(context: Context) -> str:
    shown = [m for m in context.models.values() if m.number("published_accuracy")]
    if not shown:
        return ""
    inferred = [model.name for model in shown if model.is_inferred]
    text = (
        "Each is one run of the authors, selected on the test images, at a commit that "
        "is inferred."
    )
    if inferred:
        text += f" To which model it belongs is inferred for {listing(inferred)}."
    return text


def _deviations(context: Context) -> Markdown | str:
    carried = carried_without_price(context)
    if not carried:
        return ""
    return Markdown(
        "The models of this study have deviations of the authors’ code, and what these "
        f"do to accuracy is not measured here: {listing(carried)}."
    )


def _times(context: Context) -> str:
    facts = context.measurement
    if not facts:
        return ""
    device = facts.get("device_name") or facts.get("device", numbers.NOT_AVAILABLE)
    return (
        f"They hold for one device ({escape(device)}) and one image a pass; another "
        "device may order the models otherwise."
    )


def _attention(context: Context) -> str:
    if not context.measured_attention:
        return ""
    return (
        f"It is measured over {escape(context.attention_extent)}. Where a model looks "
        "is not why it answers: a weight does not say what the value behind it carries."
    )
