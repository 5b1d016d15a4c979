# Ways to show a finished report elsewhere.


# Snakemake's own report shows a page from a folder that holds nothing else.
rule pack_page:
    input:
        html=f"{RESULTS}/report/report.html",
        source=source_files("src/reattn/report/packed_page.py"),
    output:
        folder=report(
            directory(f"{RESULTS}/page"),
            htmlindex="report.html",
            caption="../report/report.rst",
            category="Report",
            labels={"report": "web page"},
        ),
    log:
        f"{RESULTS}/logs/pack_page.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
    message:
        "Packing the page of study {params.study} for snakemake --report."
    shell:
        "python -m reattn pack-page {params.study:q} 2> {log:q}"


# Not part of a study: it needs a browser, and the packages for development.
rule take_pictures:
    input:
        html=f"{RESULTS}/report/report.html",
        pdf=f"{RESULTS}/report/report.pdf",
        pictures="docs/pictures/pictures.yaml",
        source=source_files("src/reattn/report/pictures.py"),
    output:
        folder=directory(f"{RESULTS}/pictures"),
    log:
        f"{RESULTS}/logs/take_pictures.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=STUDY,
    message:
        "Taking the README's pictures of study {params.study}."
    shell:
        "python -m reattn take-pictures {params.study:q} 2> {log:q}"
