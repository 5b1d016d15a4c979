rule make_tables:
    input:
        metrics=run_files("metrics.json"),
        status=run_files("status.json"),
        measurements=f"{RESULTS}/measure/measurements.csv",
        attention=expand(f"{RESULTS}/measure/attention/{{v}}.csv", v=VARIANTS),
        agreement=f"{RESULTS}/measure/agreement.csv",
        constructed=f"{RESULTS}/measure/constructed.csv",
        history=run_files("history.csv"),
        published="config/published.yaml",
        deviations="config/deviations.yaml",
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
        attention=f"{RESULTS}/tables/attention.csv",
        audit=report(
            f"{RESULTS}/tables/audit.csv",
            caption="../report/audit.rst",
            category="Tables",
        ),
        comparisons=f"{RESULTS}/tables/comparisons.csv",
        depth=f"{RESULTS}/tables/depth.csv",
        projections=f"{RESULTS}/tables/projections.csv",
        constructed=f"{RESULTS}/tables/constructed.csv",
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


rule judge_claims:
    input:
        tables=[f"{RESULTS}/tables/{n}.csv" for n in EVIDENCE],
        attention=expand(f"{RESULTS}/measure/attention/{{v}}.csv", v=VARIANTS),
        metrics=run_files("metrics.json"),
        claims="config/claims.yaml",
        published="config/published.yaml",
        source=source_files("src/reattn/claims/*.py"),
    output:
        claims=report(
            f"{RESULTS}/tables/claims.csv",
            caption="../report/claims.rst",
            category="Tables",
        ),
        published=f"{RESULTS}/tables/published.csv",
    log:
        f"{RESULTS}/logs/judge_claims.log",
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
    message:
        "Judging the claims by study {params.study}."
    shell:
        "python -m reattn claims {params.study:q} 2> {log:q}"


rule draw_charts:
    input:
        models=f"{RESULTS}/tables/models.csv",
        published=f"{RESULTS}/tables/published.csv",
        constructed=f"{RESULTS}/tables/constructed.csv",
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
        tables=[f"{RESULTS}/tables/{name}.csv" for name in TABLES],
        attention=expand(f"{RESULTS}/figures/attention/{{variant}}", variant=VARIANTS),
        metrics=expand(f"{RESULTS}/figures/attention-metrics/{{v}}", v=VARIANTS),
        charts=expand(f"{RESULTS}/figures/{{chart}}", chart=CHARTS),
        explorer=f"{RESULTS}/explorer",
        facts=f"{RESULTS}/data/data.json",
        conditions=f"{RESULTS}/measure/measurements.json",
        published="config/published.yaml",
        deviations="config/deviations.yaml",
        source=source_files("src/reattn/report/*.py", "report/**/*.*"),
    output:
        html=f"{RESULTS}/report/report.html",
        pdf=report(
            f"{RESULTS}/report/report.pdf",
            caption="../report/report.rst",
            category="Report",
            labels={"report": "PDF"},
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
        page_megabytes=SETTINGS.report.page_megabytes,
    message:
        "Typesetting the report of study {params.study}."
    shell:
        "python -m reattn report {params.study:q} --no-refresh 2> {log:q}"
