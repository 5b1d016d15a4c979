# Wall times of different models compare only when nothing else runs: one job for
# all of them, which takes every core, and goes before the trainings: later, cores
# would stand idle until the last of them is free.
rule measure_models:
    input:
        facts=PREPARED[0] if NEW_IMAGES else ancient(PREPARED[0]),
    output:
        table=f"{RESULTS}/measure/measurements.csv",
        conditions=f"{RESULTS}/measure/measurements.json",
    log:
        f"{RESULTS}/logs/measure_models.log",
    priority: 2
    conda:
        "../../environment.yml"
    threads: every_core
    resources:
        gpu=int(NEEDS_GPU),
        mem_mb=memory_of_any,
        runtime=120,
    params:
        study=STUDY,
        image_size=SETTINGS.data.image_size,
        models={run.variant_id: run.variant.model.model_dump() for run in RUNS},
        measurement=SETTINGS.measurement.model_dump(),
        device=SETTINGS.training.device,
        threads=SETTINGS.training.threads,
        precision=SETTINGS.training.precision,
    message:
        "Measuring all models of study {params.study}."
    shell:
        "python -m reattn measure {params.study:q} 2> {log:q}"


# What two variants get right, image by image: of twins, and of hierarchical pairs.
rule compare_predictions:
    input:
        predictions=predictions_there_are,
        status=run_files("status.json"),
    output:
        # Rows of runs that were kept without their predictions stay.
        table=update(f"{RESULTS}/measure/agreement.csv"),
    log:
        f"{RESULTS}/logs/compare_predictions.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
        pairs=texts()["models"],
    message:
        "Comparing the predictions of study {params.study}."
    shell:
        "python -m reattn agreement {params.study:q} 2> {log:q}"


# A task of its own, which takes seconds and needs no images.
rule train_constructed:
    output:
        table=f"{RESULTS}/measure/constructed.csv",
        attention=f"{RESULTS}/measure/constructed-attention.csv",
    log:
        f"{RESULTS}/logs/train_constructed.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
    message:
        "Training the constructed task."
    shell:
        "python -m reattn constructed {params.study:q} 2> {log:q}"
