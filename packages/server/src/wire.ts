/** The rooms put together: who is given what. Nothing is started here. */
