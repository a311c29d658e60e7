/* start.js -- the last file: reads the data and opens the view that the link names. */
"use strict";
heed.start();
