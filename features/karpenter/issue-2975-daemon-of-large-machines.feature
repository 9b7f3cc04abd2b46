# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2975

@karpenter @issue-2975
Feature: A DaemonSet that selects large machines takes no room on small ones

  @karpenter-2975-daemon-of-large-machines
  Scenario: A DaemonSet for one instance type, and a pod for another one
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux, c-16x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: agent}
      spec:
        selector: {matchLabels: {app: agent}}
        template:
          metadata: {labels: {app: agent}}
          spec:
            nodeSelector: {node.kubernetes.io/instance-type: c-16x-amd64-linux}
            containers: [{name: agent, image: agent, resources: {requests: {cpu: 2}}}]
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, namespace: default}
      spec:
        nodeSelector: {node.kubernetes.io/instance-type: c-4x-amd64-linux}
        containers: [{name: main, image: main, resources: {requests: {cpu: 3}}}]
      """
    Then the pod "web" is Running within 5m
