# https://github.com/kubernetes-sigs/kubespray/issues/12059: what autoscalers do in the meantime.

@bootstrap @issue-12059
Feature: No second machine is launched while a Node waits for its cloud controller manager

  While no cloud controller manager runs, new Nodes keep the taint
  node.cloudprovider.kubernetes.io/uninitialized, and pods stay Pending beside machines
  that were launched for them. Another machine would wait in the same way.

  @cluster-autoscaler @hetzner @bootstrap-12059-autoscaler
  Scenario: Cluster Autoscaler, and a controller manager that comes after 20 minutes
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"
    And servers of the node groups boot with this user data:
      """
      #cloud-config
      runcmd:
      - echo "KUBELET_EXTRA_ARGS=--cloud-provider=external --provider-id=hcloud://$(curl -sf http://169.254.169.254/hetzner/v1/metadata/instance-id)" > /etc/default/kubelet
      - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
      """
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    And the scenario waits for 20m
    And a cloud controller manager for the Hetzner Cloud is deployed
    Then the pod "web" is Running within 2m
    And 1m from now, exactly 1 server of the group "pool1" has been created since the start

  @karpenter @bootstrap-12059-karpenter
  Scenario: Karpenter, and a controller manager that comes after 20 minutes
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 20s later
    And a node agent "cloud-controller-manager" that taints its Node with "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule" from 1s to 20m after registration
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then 25m from now, exactly 1 NodeClaim has been created since the start
    And the pod "web" is Running within 1m
