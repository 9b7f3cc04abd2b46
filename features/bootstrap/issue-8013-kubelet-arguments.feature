# https://github.com/kubernetes/autoscaler/issues/8013: what happened on the node.

@cluster-autoscaler @bootstrap @hetzner @issue-8013
Feature: A server whose kubelet runs pods is kept

  A kubelet with --cloud-provider=external waits for the cloud controller
  manager, which gives its Node the provider ID of its server. Cluster Autoscaler
  assigns Nodes to servers by the provider ID. Where the argument does not arrive, the Node
  works, and nothing shows that it is the server's.

  What simulated and real kubelets show must be the same.

  Background:
    Given a cluster that kubelets can join
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a cloud controller manager for the Hetzner Cloud
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  Scenario Outline: The argument is in a drop-in, as guides have it, and the package's file overrides it
    Given servers with <kind> kubelets
    And servers of the node groups boot with this user data:
      """
      #cloud-config
      write_files:
      - path: /etc/systemd/system/kubelet.service.d/20-hcloud.conf
        content: |
          [Service]
          Environment="KUBELET_EXTRA_ARGS=--cloud-provider=external"
      runcmd:
      - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
      """
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And 25m from now, a server of a node group has been running since the start, and no running server has been deleted

    @bootstrap-8013-drop-in-overridden
    Examples:
      | kind      |
      | simulated |

    @bootstrap-8013-drop-in-overridden-real
    Examples:
      | kind |
      | real |

  Scenario Outline: The argument is in /etc/default/kubelet
    Given servers with <kind> kubelets
    And servers of the node groups boot with this user data:
      """
      #cloud-config
      runcmd:
      - grep -q cloud-provider /etc/default/kubelet || sed -i 's/^KUBELET_EXTRA_ARGS=.*/KUBELET_EXTRA_ARGS=--cloud-provider=external/' /etc/default/kubelet
      - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
      """
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And the Node of the pod "web" has the provider ID of its server
    And 25m from now, a server of a node group has been running since the start, and no running server has been deleted

    @bootstrap-8013-default-kubelet
    Examples:
      | kind      |
      | simulated |

    @bootstrap-8013-default-kubelet-real
    Examples:
      | kind |
      | real |

  Scenario Outline: The network plugin comes ten minutes late
    Given servers with <kind> kubelets
    And servers of the node groups boot with this user data:
      """
      #cloud-config
      write_files:
      - path: /etc/default/kubelet
        content: |
          KUBELET_EXTRA_ARGS=--cloud-provider=external
      runcmd:
      - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
      """
    And servers whose Nodes are Ready 10m after their registration
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then 11m from now, exactly 1 server of the group "pool1" has been created since the start
    And the pod "web" is Running within 3m
    And 10m from now, a server of a node group has been running since the start, and no running server has been deleted

    @bootstrap-8013-network-late
    Examples:
      | kind      |
      | simulated |

    @bootstrap-8013-network-late-real
    Examples:
      | kind |
      | real |

  @bootstrap-8013-csinode-late
  Scenario: The CSINode comes five minutes late
    Given servers with real kubelets
    And servers of the node groups boot with this user data:
      """
      #cloud-config
      write_files:
      - path: /etc/default/kubelet
        content: |
          KUBELET_EXTRA_ARGS=--cloud-provider=external
      runcmd:
      - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
      """
    And CSINodes that come 5m late
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then 6m from now, exactly 1 server of the group "pool1" has been created since the start
    And the pod "web" is Running within 5m
    And 15m from now, a server of a node group has been running since the start, and no running server has been deleted
