from iostrata.cli import main

main()
