// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/page/help_page.h"

#include <QTextBrowser>
#include <QVBoxLayout>

#include "ui/widget/card.h"

namespace n2nq::ui {

namespace {

constexpr const char* page = R"(
<p class="head">A first run</p>
<ol>
<li>Choose a preset, or set the amounts, the message size and the delay.</li>
<li>Press <b>Start all</b> (F5). N2NQ, the senders and the receivers start; traffic begins once all of them are connected.</li>
<li>Watch: aggregates and tables show what the senders and receivers report, ten times a second. The log button beside a service opens what that service wrote.</li>
<li>At the end the verdict stands in the middle, with its reasons, and <b>Open folder</b> leads to the files of the run.</li>
</ol>
<p>Each process can be started alone, in any order; it waits for the others and says so. Runs are kept in <code>%runs%</code>.</p>

<p class="head">Words</p>
<table width="100%" cellspacing="0">
<tr><td width="150">sender, receiver</td><td>one simulated service with a connection and a log file of its own</td></tr>
<tr><td width="150">broadcaster</td><td>queue mode 1: every receiver gets every message</td></tr>
<tr><td width="150">load balancer</td><td>queue mode 2: every message goes to exactly one receiver</td></tr>
<tr><td width="150">internal, external</td><td>a group on N2NQ's own machine, or on another one; Source beside each start button chooses</td></tr>
<tr><td width="150">latency</td><td>actual send to receipt, per delivery</td></tr>
<tr><td width="150">delay</td><td>gap between two sends of one sender</td></tr>
<tr><td width="150">lag</td><td>planned to actual send; not part of the latency</td></tr>
<tr><td width="150">p99</td><td>99 of 100 took at most this long; p50 and p95 alike</td></tr>
<tr><td width="150">mean lowest 95 %</td><td>mean of the latencies without the highest 5 %, the thesis' figure; how many it leaves out stands below it</td></tr>
<tr><td width="150">in flight</td><td>accepted by N2NQ, still to be received or skipped; with requests at most, since it contains what nobody asked for until N2NQ tells</td></tr>
<tr><td width="150">retention</td><td>for how long a message stays in the queue at most</td></tr>
<tr><td width="150">expired</td><td>removed from the queue before its receiver got it</td></tr>
<tr><td width="150">parked</td><td>put aside by N2NQ after too many bad or missing answers, and counted</td></tr>
<tr><td width="150">cut off</td><td>a receiver that took its messages too slowly for too long is let go by N2NQ</td></tr>
<tr><td width="150">unrequested</td><td>not sent, because its receiver's request does not ask for it; no fault</td></tr>
<tr><td width="150">skipped</td><td>what a receiver will not get: expired, unrequested, parked or cut off</td></tr>
<tr><td width="150">prefetch</td><td>how many deliveries may be under way to a receiver, by its request</td></tr>
<tr><td width="150">warm-up</td><td>what is sent before the first message that counts; in no figure</td></tr>
<tr><td width="150">draining</td><td>all that was planned is sent, and N2NQ still has something for a receiver</td></tr>
<tr><td width="150">log incomplete</td><td>lines or files of the run's logs are missing</td></tr>
<tr><td width="150">±</td><td>how far a latency may be off, because its two ends were read from two clocks; its tooltip says why. Of a test case's figure it is the 95 % interval over the repeats, and that of the clocks stands beside it, as <i>clocks ±</i></td></tr>
<tr><td width="150">no finer</td><td>the latency is smaller than its ±, and the clocks tell no more about it</td></tr>
<tr><td width="150">grey</td><td>a latency below its ±, or below twice its floor: it says more about clocks or machine than about the queue; or a percentile with fewer than 10 samples above it</td></tr>
<tr><td width="150">floor</td><td>what an echo over loopback takes on the slower of the groups' hosts</td></tr>
<tr><td width="150">disturbed</td><td>a process of the run waited for a core for more than half of the time in which it had something to do; the verdict stays</td></tr>
<tr><td width="150">◯</td><td>in a test case's figure: a run behind this point was degraded, broken or disturbed, or began on a busy machine; Run again makes it once more</td></tr>
<tr><td width="150">◇</td><td>in a test case's figure: what is known of it from elsewhere, as from the thesis; or a knee</td></tr>
<tr><td width="150">knee</td><td>the load up to which the system keeps up, found at scale Stress</td></tr>
<tr><td width="150">bench CPU</td><td>how much of one core the window's own process took in the last second</td></tr>
<tr><td width="150">–</td><td>not known yet</td></tr>
</table>

<p class="head">Verdicts</p>
<table width="100%" cellspacing="0">
<tr><td width="150">✓ clean</td><td>every message is accounted for, nothing went wrong</td></tr>
<tr><td width="150">■ stopped</td><td>ended by you; what was sent is accounted for</td></tr>
<tr><td width="150">▲ degraded</td><td>accounted for, but some expired, were parked, cut off, refused, came twice without notice or out of order, a connection was lost for a while, harm was done on purpose, the log is incomplete, or the plan was not kept</td></tr>
<tr><td width="150">✕ broken</td><td>something was lost, came damaged or unasked, cannot be explained, or a process died</td></tr>
<tr><td width="150">◌ unfinished</td><td>a run without a summary (its bench was killed, or its disk full), or a test case of which runs are to come</td></tr>
<tr><td width="150">● running</td><td>a bench works on it now</td></tr>
</table>

<p class="head">Keys</p>
<table width="100%" cellspacing="0">
<tr><td width="150">F5</td><td>start all</td></tr>
<tr><td width="150">Shift+F5</td><td>stop; once more: without waiting</td></tr>
<tr><td width="150">Ctrl+L</td><td>log of the selected service; Enter in a table does the same</td></tr>
<tr><td width="150">Ctrl+Shift+S</td><td>save the settings as a preset; Preset, on top, chooses one, and deletes the chosen one if it is one of your own</td></tr>
<tr><td width="150">Ctrl+1, Ctrl+2, …</td><td>pages, from the left</td></tr>
<tr><td width="150">on Test cases</td><td>Space ticks the chosen case; the Menu key or the right mouse button opens a file of your own again, Delete deletes it, Ctrl+Z brings it back; arrow keys in the figure go from point to point</td></tr>
<tr><td width="150">on Results</td><td>Enter open, Delete delete, Ctrl+Z bring back, Ctrl or Shift and a click to choose several; Escape back to the list</td></tr>
<tr><td width="150">on Hosts</td><td>Ctrl+N add, Ctrl+I import, Ctrl+R check; Ctrl+Z bring back; in the table Enter edit, Delete remove</td></tr>
<tr><td width="150">F1</td><td>this page</td></tr>
<tr><td width="150">Ctrl+Q</td><td>quit; where a run or a test case is on it asks, and stops that first</td></tr>
<tr><td width="150">in a chart</td><td>← → read the values at an instant, + − zoom, 0 back to live; wheel and dragging do the same</td></tr>
<tr><td width="150">in a log</td><td>Ctrl+F search, F3 and Shift+F3 next and previous, Esc close</td></tr>
</table>
)";

}  // namespace

HelpPage::HelpPage(const Theme& theme, const QString& runs_folder, QWidget* parent)
    : QWidget(parent), theme_(theme), runs_folder_(runs_folder) {
  setObjectName(QStringLiteral("help_page"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  auto* card = new Card(QStringLiteral("Help"));
  text_ = described(new QTextBrowser, "help_text", QStringLiteral("Help"), QString());
  text_->setProperty("plain", true);
  card->body()->addWidget(text_);
  all->addWidget(card);
  connect(&theme_, &Theme::changed, this, &HelpPage::refresh);
  refresh();
}

void HelpPage::refresh() {
  const Tokens& t = theme_.tokens();
  text_->document()->setDefaultStyleSheet(
      QStringLiteral(".head { font-size: %1px; font-weight: 600; } p, li, td { font-size: %2px; } td { padding: 2px 16px 2px 0; } "
                     "code { color: %3; }")
          .arg(text_px::title)
          .arg(text_px::body)
          .arg(t.secondary.name()));
  text_->setHtml(QString::fromUtf8(page).replace(QStringLiteral("%runs%"), runs_folder_.toHtmlEscaped()));
}

}  // namespace n2nq::ui
