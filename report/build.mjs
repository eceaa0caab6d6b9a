// Bundles the page into the Python package: page.html (frame and style) and report.js.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const target = new URL("../src/iostrata/show/_report/", here);

async function script(source) {
  const made = await build({
    entryPoints: [new URL(source, here).pathname],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    write: false,
  });
  // The one text that would end the element early.
  return made.outputFiles[0].text.replaceAll("</script", "<\\/script");
}
const style = await build({
  entryPoints: [new URL("src/style.css", here).pathname],
  bundle: true,
  minify: true,
  write: false,
});
const frame = await readFile(new URL("src/page.html", here), "utf8");

await mkdir(target, { recursive: true });
for (const [name, source] of [
  ["report.js", "src/main.ts"],
  ["compare.js", "src/compare.ts"],
]) {
  const code = await script(source);
  await writeFile(new URL(name, target), code);
  console.log(`${name} ${Math.round(code.length / 1024)} KiB`);
}
await writeFile(
  new URL("page.html", target),
  frame.replace("@STYLE@", () => style.outputFiles[0].text.trim()),
);
