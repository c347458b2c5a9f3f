"""Words for what comparisons find, one file per subject: data in, sentences out, the same for every output."""
