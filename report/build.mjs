// Bundles the page into the Python package: page.html (frame and style) and report.js.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const target = new URL("../src/iostrata/show/_report/", here);

const script = await build({
  entryPoints: [new URL("src/main.ts", here).pathname],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  write: false,
});
const style = await build({
  entryPoints: [new URL("src/style.css", here).pathname],
  minify: true,
  write: false,
});
// The one text that would end the element early.
const code = script.outputFiles[0].text.replaceAll("</script", "<\\/script");
const frame = await readFile(new URL("src/page.html", here), "utf8");

await mkdir(target, { recursive: true });
await writeFile(new URL("report.js", target), code);
await writeFile(
  new URL("page.html", target),
  frame.replace("@STYLE@", () => style.outputFiles[0].text.trim()),
);
console.log(`report.js ${Math.round(code.length / 1024)} KiB`);
