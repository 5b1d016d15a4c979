rule download_data:
    output:
        archive=ensure(ARCHIVE, non_empty=True),
    log:
        f"{RESULTS}/logs/download_data.log",
    localrule: True
    conda:
        "../../environment.yml"
    message:
        "Downloading the official CIFAR-10 archive."
    shell:
        "python -m reattn download {output.archive:q} 2> {log:q}"


rule prepare_data:
    input:
        if_new_images,
        archive=ancient(ARCHIVE if IMAGES == ARCHIVE else []),
    output:
        images=f"{RESULTS}/data/images.npy",
        labels=f"{RESULTS}/data/labels.npy",
        facts=f"{RESULTS}/data/data.json",
    log:
        f"{RESULTS}/logs/prepare_data.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: 3_000 * min(attempt, 3),
        runtime=120,
    params:
        study=STUDY,
        settings=SETTINGS.data.model_dump(exclude={"path", "note"}),
        source=DIGEST,
    message:
        "Preparing the images of study {params.study}."
    shell:
        # The place of the images is no param: what counts is what they are.
        f"python -m reattn prepare {{params.study:q}} {DATA_OPTION} 2> {{log:q}}"
