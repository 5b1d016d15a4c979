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
        archive=ancient(ARCHIVE if IMAGES == ARCHIVE else []),
    output:
        images=f"{RESULTS}/data/images.npy",
        labels=f"{RESULTS}/data/labels.npy",
        facts=f"{RESULTS}/data/data.json",
    log:
        f"{RESULTS}/logs/prepare_data.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
        settings=SETTINGS.data.model_dump(exclude={"path", "note"}),
        path=["--data-path", IMAGES] if IMAGES else [],
    message:
        "Preparing the images of study {params.study}."
    shell:
        "python -m reattn prepare {params.study:q} {params.path:q} 2> {log:q}"
