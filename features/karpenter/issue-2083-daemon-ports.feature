# https://github.com/kubernetes-sigs/karpenter/issues/2083

@karpenter @issue-2083
Feature: No machine is launched for a pod whose port the daemons of every machine have

  @karpenter-2083-daemon-ports
  Scenario: A pod wants the host port of a DaemonSet
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 10ms later
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: agent, namespace: kube-system}
      spec:
        selector: {matchLabels: {app: agent}}
        template:
          metadata: {labels: {app: agent}}
          spec:
            priorityClassName: system-node-critical
            tolerations: [{operator: Exists}]
            containers:
              - name: agent
                image: agent
                ports: [{containerPort: 80, hostPort: 8080, protocol: TCP}]
                resources: {requests: {cpu: 100m}}
      """
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    When the scenario waits for 30s
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: edge, namespace: default}
      spec:
        containers:
          - name: edge
            image: edge
            ports: [{containerPort: 80, hostPort: 8080, protocol: TCP}]
            resources: {requests: {cpu: 100m}}
      """
    Then 5m from now, exactly 1 NodeClaim has been created since the start
