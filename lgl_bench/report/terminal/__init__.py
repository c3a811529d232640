"""What commands print for people: tables and sentences that fit the terminal."""
