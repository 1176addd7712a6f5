"""Screens: a module and a .tcss file each. They show the workspace and turn keys into its methods."""
