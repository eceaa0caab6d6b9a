"""What another storage would bring: profiles of storages, and models fitted to them (S5)."""
