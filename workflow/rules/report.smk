rule make_tables:
    input:
        metrics=run_files("metrics.json"),
        status=run_files("status.json"),
        measurements=f"{RESULTS}/measure/measurements.csv",
        published="config/published.yaml",
        source=source_files("src/reattn/tables/*.py"),
    output:
        models=report(
            f"{RESULTS}/tables/models.csv",
            caption="../report/models.rst",
            category="Tables",
        ),
        runs=report(
            f"{RESULTS}/tables/runs.csv",
            caption="../report/runs.rst",
            category="Tables",
        ),
        hyperparameters=f"{RESULTS}/tables/hyperparameters.csv",
        hierarchical=report(
            f"{RESULTS}/tables/hierarchical.csv",
            caption="../report/hierarchical.rst",
            category="Tables",
        ),
        variants=f"{RESULTS}/tables/variants.csv",
    log:
        f"{RESULTS}/logs/make_tables.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
        texts=texts(),
        stale=STALE,
    message:
        "Making the tables of study {params.study}."
    shell:
        "python -m reattn tables {params.study:q} 2> {log:q}"


rule draw_charts:
    input:
        models=f"{RESULTS}/tables/models.csv",
        history=run_files("history.csv"),
        style=source_files("src/reattn/figures/*.py"),
    output:
        folder=report(
            directory(f"{RESULTS}/figures/{{chart}}"),
            patterns=["{name}.svg"],
            caption="../report/charts.rst",
            category="Charts",
            labels={"chart": "{chart}", "figure": "{name}"},
        ),
    log:
        f"{RESULTS}/logs/draw_charts/{{chart}}.log",
    wildcard_constraints:
        chart="|".join(CHARTS),
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
        texts=texts(),
    message:
        "Drawing the {wildcards.chart} of study {params.study}."
    shell:
        "python -m reattn charts {params.study:q} {wildcards.chart} 2> {log:q}"


rule write_report:
    input:
        models=f"{RESULTS}/tables/models.csv",
        runs=f"{RESULTS}/tables/runs.csv",
        hyperparameters=f"{RESULTS}/tables/hyperparameters.csv",
        hierarchical=f"{RESULTS}/tables/hierarchical.csv",
        variants=f"{RESULTS}/tables/variants.csv",
        attention=expand(f"{RESULTS}/figures/attention/{{variant}}", variant=VARIANTS),
        charts=expand(f"{RESULTS}/figures/{{chart}}", chart=CHARTS),
        facts=f"{RESULTS}/data/data.json",
        conditions=f"{RESULTS}/measure/measurements.json",
        published="config/published.yaml",
        deviations="config/deviations.yaml",
        source=source_files("src/reattn/report/*.py", "report/**/*.*"),
    output:
        html=report(
            f"{RESULTS}/report/report.html",
            caption="../report/report.rst",
            category="Report",
        ),
        pdf=report(
            f"{RESULTS}/report/report.pdf",
            caption="../report/report.rst",
            category="Report",
        ),
        markdown=f"{RESULTS}/report/report.md",
        manifest=f"{RESULTS}/report/manifest.json",
    log:
        f"{RESULTS}/logs/write_report.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
        texts=texts(),
    message:
        "Typesetting the report of study {params.study}."
    shell:
        "python -m reattn report {params.study:q} --no-refresh 2> {log:q}"
