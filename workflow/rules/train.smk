rule train_model:
    input:
        images_to_train_on,
    output:
        metrics=f"{RESULTS}/runs/{{variant}}/seed{{seed}}/metrics.json",
        model=f"{RESULTS}/runs/{{variant}}/seed{{seed}}/model.pt",
        history=f"{RESULTS}/runs/{{variant}}/seed{{seed}}/history.csv",
        predictions=f"{RESULTS}/runs/{{variant}}/seed{{seed}}/predictions.npz",
        status=f"{RESULTS}/runs/{{variant}}/seed{{seed}}/status.json",
    log:
        f"{RESULTS}/logs/train_model/{{variant}}-seed{{seed}}.log",
    priority: priority_of
    conda:
        "../../environment.yml"
    threads: SETTINGS.training.threads
    resources:
        gpu=int(NEEDS_GPU),
        mem_mb=memory_of,
        runtime=runtime_of,
    params:
        study=STUDY,
        fingerprint=fingerprint_of,
    message:
        "Training {wildcards.variant}, seed {wildcards.seed}."
    shell:
        "python -m reattn train {params.study:q} {wildcards.variant}"
        " --seed {wildcards.seed} 2> {log:q}"
