rule save_attention:
    input:
        weights=first_run_weights,
        facts=f"{RESULTS}/data/data.json",
        images=ancient(f"{RESULTS}/data/images.npy"),
    output:
        arrays=f"{RESULTS}/attention/{{variant}}.npz",
    log:
        f"{RESULTS}/logs/save_attention/{{variant}}.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
        attention=SETTINGS.attention.model_dump(),
    message:
        "Reading the attention of {wildcards.variant}."
    shell:
        "python -m reattn attention {params.study:q} {wildcards.variant} 2> {log:q}"


rule draw_attention:
    input:
        arrays=f"{RESULTS}/attention/{{variant}}.npz",
        style=source_files("src/reattn/figures/*.py"),
    output:
        folder=report(
            directory(f"{RESULTS}/figures/attention/{{variant}}"),
            patterns=["{name}.svg"],
            caption="../report/attention.rst",
            category="Attention",
            subcategory="{variant}",
            labels={"variant": "{variant}", "figure": "{name}"},
        ),
    log:
        f"{RESULTS}/logs/draw_attention/{{variant}}.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
    message:
        "Drawing the attention of {wildcards.variant}."
    shell:
        "python -m reattn figures {params.study:q} {wildcards.variant} 2> {log:q}"
