"""Why a memory was found or not: the words that counted, the nearest words, and the bar that it fell short of."""
