// In the order they run: the first installs the definitions that the others use.
import './documents.ts';
import './objects.ts';
import './lists.ts';
import './watches.ts';
import './patches.ts';
import './apply.ts';
import './schemas.ts';
import './crds.ts';
import './deletion.ts';
import './builtins.ts';
import './accounts.ts';
import './own-kinds.ts';
