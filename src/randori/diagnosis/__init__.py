"""What a run folder tells of its training: is it healthy, and which openings does it play.

In reading order:

    findings   a finding: number, trend, verdict, sentence
    opinions   what a network thinks of positions, without search
    evidence   what the folder holds, as arrays, tolerant of whatever is missing
    trials     networks of the run before rows that they learnt from, and before later ones
    variety    how many different positions random play would have met
    rules      findings from rows and networks: thresholds that mean the same in every game
    history    findings from the metrics alone
    doctor     examine(run) -> Examination
    openings   study(run) -> Study: opening lines over the course of training
    charts     small SVG charts
    page       reports as one HTML file, nothing fetched
"""
