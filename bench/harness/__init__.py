"""What every task of bench/run shares: contenders in processes of their own, equality before timing, tables."""
