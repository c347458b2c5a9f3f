"""What is not read, and how tables are: for the reference."""

NOT_READ = {
    "JMeter's XML": "have it save CSV",
    "spreadsheets of the old sort (`.xls`)": "save them as `.xlsx` or CSV",
}
TABLES = (
    "The first column holds loads: clients, rates, block sizes, anything that `--rows` names. Where it holds text "
    "(`Sequential read`), rows are parts of the work, and the geometric mean of their figures decides.",
    "The other columns are contenders (`clients,nginx,apache`), all in one unit; or metrics of one contender "
    "(`clients,req/s,p99 (ms),errors`), which is named by `NAME=FILE`, `--contender`, a column `server`, or the file.",
    "A first heading `file\\record (KB)` and columns headed by numbers are the cells of a matrix; `--columns` names "
    "such columns where the heading does not.",
    "Units stand in headings, in a title above, or behind numbers: MB/s, MiB/s, KB/s, Mbit/s, req/s, IOPS, ms, s, %. "
    "`--unit` replaces them. `MB/s` stays as it is: tools do not state whether they count 10⁶ or 2²⁰ bytes.",
    "A decimal comma and marks between thousands are known where a number of the table can be read in one way alone "
    "(`0,5`, `1.234,5`). `1,234` alone is asked about: `--decimal point` or `--decimal comma`.",
    "Sizes with letters (`4k`) count in 1,024. Formulas of spreadsheets are never calculated: their stored values are "
    "read, with the decimals and the percent sign that the cell shows. Printed digits bound a figure: 12.5 lies "
    "between 12.45 and 12.55.",
)
BOUNDS = (
    "32 MiB of text or JSON (3,000,000 values), 64 MiB of an unpacked spreadsheet, lines of 1 MiB, tables of 100,000 "
    "rows. JMeter's, hey's and HdrHistogram's logs may be of any length. Document types and entities of XML are "
    "refused."
)
