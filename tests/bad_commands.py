"""Command lines and environments that cannot be used."""

from breaking import STUDY, Bad, file, study

COMMANDS = [
    ("", ("Usage",)),
    ("trian tiny vit", ("No such command 'trian'",)),
    ("train", ("Missing argument",)),
    ("train tiny", ("Missing argument 'variant'",)),
    ("train tiny vit --sed 0", ("No such option", "--seed")),
    ("train tiny vit --seed x", ("--seed", "valid integer")),
    ("train tiny vit --seed 99", ("no run vit with seed 99", "Its seeds: 0")),
    ("train tiny vit --seed -1", ("no run vit with seed -1",)),
    ("train tiny nosuch", ("nosuch", "Its variants: ")),
    ("train tiny ../vit", ("../vit", "Its variants: ")),
    ("train tinny vit", ("'tinny'", "Did you mean tiny?")),
    ("check ../tiny", ("'../tiny'", "does not exist")),
    ("check {project}/config/studies/tiny.yaml", ("does not exist",)),
    ("plan nosuch", ("'nosuch'", "does not exist")),
    ("variants --study nosuch", ("'nosuch'", "does not exist")),
    ("evaluate tiny vitt", ("vitt", "Its variants: ")),
    ("attention tiny vitt", ("'vitt'", "Did you mean vit?")),
    ("figures tiny vitt", ("'vitt'", "Did you mean vit?")),
    ("charts tiny pies", ("'pies'", "known: diagrams")),
    ("measure nosuch", ("'nosuch'", "does not exist")),
    ("tables nosuch", ("'nosuch'", "does not exist")),
    ("report nosuch", ("'nosuch'", "does not exist")),
    ("import vit nowhere --study tiny --replace", ("nowhere is not a file",)),
    ("import vit nowhere", ("Missing option '--study'",)),
    ("import vitt nowhere --study tiny", ("vitt", "Its variants: ")),
    ("prepare folder --data-path", ("--data-path", "requires an argument")),
]

ROOTS = {
    "/nowhere": "/nowhere",
    "{project}/Snakefile": "Snakefile",
    "{project}/src": "src",
}
BAD_COMMANDS = [
    *(Bad(command or "nothing", command, words) for command, words in COMMANDS),
    *(
        Bad(
            f"a root of {name}",
            "check tiny",
            ("REATTN_ROOT", name, "config/studies", "set REATTN_ROOT"),
            environment={"REATTN_ROOT": root},
        )
        for root, name in ROOTS.items()
    ),
    Bad(
        "a parent that is none",
        "train tiny vit",
        ("REATTN_PARENT=abc", "Unset it"),
        environment={"REATTN_PARENT": "abc"},
    ),
]

CONFIG = "config/config.yaml"
TINY = "--config study=tiny"
CALLS = [
    ("--config study=demmo", ("'demmo'", "Did you mean demo?")),
    ("--config study=", ("Study", "does not exist", "Known: audit-cpu")),
    ("--config study=5", ("'5'", "does not exist")),
    ("--config study=../demo", ("'../demo'", "does not exist")),
    ("--config stdy=demo", ("--config stdy", "Did you mean study?")),
    ("--config study=demo data_path=/x", ("/x", "scikit-learn", "data_path")),
    ("--config study=fresh", ("fresh", "data_path=PATH")),
    ("--config study=fresh data_path=/nowhere", ("/nowhere", "does not exist")),
    ("--config study=fresh data_path=5", ("data_path = 5", "does not exist")),
    (f"--resources gpus=1 {TINY}", ("resource gpus", "Write gpu")),
    (TINY, (STUDY, "seeds.0 = -1"), study(seeds=[-1])),
    (TINY, (STUDY, "line 1"), file(STUDY, "{")),
    ("", ("Config file", "YAML"), file(CONFIG, "")),
    ("", ("Config file", "YAML"), file(CONFIG, "study: {")),
    (f"results/nosuch.txt {TINY}", ("results/nosuch.txt",)),
    (f"results/tiny/runs/vit/seed9/model.pt {TINY}", ("seed9",)),
]
SNAKEMAKE = [
    Bad(
        f"{arguments} ({words[0]})",
        f"snakemake --cores 1 -n {arguments}",
        words,
        *breaks,
    )
    for arguments, words, *breaks in CALLS
]
