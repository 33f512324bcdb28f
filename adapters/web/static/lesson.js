// The reading page: light or dark.
import { themeSwitch } from "./switch.js";

themeSwitch(document.getElementById("theme"));
