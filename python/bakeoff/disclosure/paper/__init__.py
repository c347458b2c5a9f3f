"""What the author of a paper gives beside a run: text, prices, features, and what the test bed is made of."""
