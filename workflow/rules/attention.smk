rule save_attention:
    input:
        weights=weights_of,
        status=variant_files("status.json"),
        facts=ancient(f"{RESULTS}/data/data.json"),
        images=ancient(f"{RESULTS}/data/images.npy"),
        labels=ancient(f"{RESULTS}/data/labels.npy"),
        pictures=attention_pictures(),
    output:
        arrays=f"{RESULTS}/attention/{{variant}}.npz",
    log:
        f"{RESULTS}/logs/save_attention/{{variant}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: 3_000 * min(attempt, 3),
        runtime=60,
    params:
        study=STUDY,
        attention=SETTINGS.attention.model_dump(),
        texts=lambda wildcards: texts_of(wildcards.variant),
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


rule pack_explorer:
    input:
        arrays=[f"{RESULTS}/attention/{name}.npz" for name in EXPLORED],
        source=source_files("src/reattn/explorer/*.py"),
    output:
        folder=directory(f"{RESULTS}/explorer"),
    log:
        f"{RESULTS}/logs/pack_explorer.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
        texts=texts(),
    message:
        "Packing attention for the explorer of study {params.study}."
    shell:
        "python -m reattn pack-explorer {params.study:q} 2> {log:q}"


rule measure_attention:
    input:
        weights=weights_of,
        status=variant_files("status.json"),
        facts=ancient(f"{RESULTS}/data/data.json"),
        images=ancient(f"{RESULTS}/data/images.npy"),
        labels=ancient(f"{RESULTS}/data/labels.npy"),
    output:
        # Rows of runs that were kept without their weights stay.
        table=update(f"{RESULTS}/measure/attention/{{variant}}.csv"),
    log:
        f"{RESULTS}/logs/measure_attention/{{variant}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: 3_000 * min(attempt, 3),
        runtime=120,
    params:
        study=STUDY,
        images=SETTINGS.attention.metric_images,
    message:
        "Measuring the attention of {wildcards.variant}."
    shell:
        "python -m reattn measure-attention {params.study:q} {wildcards.variant}"
        " 2> {log:q}"


rule draw_attention_metrics:
    input:
        table=f"{RESULTS}/measure/attention/{{variant}}.csv",
        style=source_files("src/reattn/figures/*.py"),
    output:
        folder=report(
            directory(f"{RESULTS}/figures/attention-metrics/{{variant}}"),
            patterns=["{name}.svg"],
            caption="../report/attention.rst",
            category="Attention",
            subcategory="{variant}",
            labels={"variant": "{variant}", "figure": "{name}"},
        ),
    log:
        f"{RESULTS}/logs/draw_attention_metrics/{{variant}}.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
        texts=lambda wildcards: texts_of(wildcards.variant),
    message:
        "Drawing what was measured of the attention of {wildcards.variant}."
    shell:
        "python -m reattn draw-attention-metrics {params.study:q} {wildcards.variant}"
        " 2> {log:q}"
