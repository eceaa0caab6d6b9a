package io.iostrata.tfs;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockStoragePolicySpi;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;

/** {@code tfs://} for those who call FileContext, such as YARN. */
public final class TracedFs extends DelegateToFileSystem {
  TracedFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    super(uri, new TracedFileSystem(), conf, Names.SCHEME, false);
  }

  /** With the kind of the file system, which AbstractFileSystem takes for a user's name. */
  @Override
  public URI getUri() {
    return fsImpl == null ? super.getUri() : fsImpl.getUri();
  }

  @Override
  public RemoteIterator<Path> listCorruptFileBlocks(Path path) throws IOException {
    return fsImpl.listCorruptFileBlocks(path);
  }

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    fsImpl.modifyAclEntries(path, entries);
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    fsImpl.removeAclEntries(path, entries);
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    fsImpl.removeDefaultAcl(path);
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    fsImpl.removeAcl(path);
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    fsImpl.setAcl(path, entries);
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    return fsImpl.getAclStatus(path);
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value) throws IOException {
    fsImpl.setXAttr(path, name, value);
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    fsImpl.setXAttr(path, name, value, flags);
  }

  @Override
  public byte[] getXAttr(Path path, String name) throws IOException {
    return fsImpl.getXAttr(path, name);
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path) throws IOException {
    return fsImpl.getXAttrs(path);
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path, List<String> wanted) throws IOException {
    return fsImpl.getXAttrs(path, wanted);
  }

  @Override
  public List<String> listXAttrs(Path path) throws IOException {
    return fsImpl.listXAttrs(path);
  }

  @Override
  public void removeXAttr(Path path, String name) throws IOException {
    fsImpl.removeXAttr(path, name);
  }

  @Override
  public Path createSnapshot(Path path, String name) throws IOException {
    return fsImpl.createSnapshot(path, name);
  }

  @Override
  public void renameSnapshot(Path path, String from, String to) throws IOException {
    fsImpl.renameSnapshot(path, from, to);
  }

  @Override
  public void deleteSnapshot(Path path, String name) throws IOException {
    fsImpl.deleteSnapshot(path, name);
  }

  @Override
  public void satisfyStoragePolicy(Path path) throws IOException {
    fsImpl.satisfyStoragePolicy(path);
  }

  @Override
  public void setStoragePolicy(Path path, String policy) throws IOException {
    fsImpl.setStoragePolicy(path, policy);
  }

  @Override
  public void unsetStoragePolicy(Path path) throws IOException {
    fsImpl.unsetStoragePolicy(path);
  }

  @Override
  public BlockStoragePolicySpi getStoragePolicy(Path path) throws IOException {
    return fsImpl.getStoragePolicy(path);
  }

  @Override
  public Collection<? extends BlockStoragePolicySpi> getAllStoragePolicies() throws IOException {
    return fsImpl.getAllStoragePolicies();
  }
}
